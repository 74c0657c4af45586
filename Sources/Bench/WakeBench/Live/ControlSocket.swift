import Glibc
import WakeSystem

/// The socket at which a daemon waits for its clients: the service manager's, or one with a file of its own.
final class ControlSocket {
    /// Non-blocking; closed with this value.
    let descriptor: Int32
    /// The file that it was bound to; nil for the service manager's.
    private let file: (path: String, identity: FileIdentity)?

    /// Listens at a path. Of what is there only a socket that no process has any more is removed: a daemon that was killed leaves
    /// one.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when something else is there, or the system refuses.
    init(at path: String) throws(CommandFailure) {
        do throws(SystemError) {
            if let given = try ServiceManager.activatedSocket() {
                (descriptor, file) = (given.release(), nil)
                return
            }
        } catch {
            throw CommandFailure(.environment, error.description, hint: Self.remedy)
        }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try RunFolder.make(String(path[..<slash]), option: "--socket")
        }
        try Self.makeWay(at: path)
        do throws(SystemError) { descriptor = try UnixSocket.listen(at: path).release() } catch {
            throw CommandFailure(.environment, error.description, hint: Self.remedy)
        }
        file = FileIdentity(at: path).map { (path, $0) }
    }

    deinit { close(descriptor) }

    /// Removes its file, where it is still its own: while the socket is open no other file has the identity.
    func removeFile() {
        if let file, FileIdentity(at: file.path) == file.identity { unsafe unlink(file.path) }
    }

    private static let remedy = "give another place with --socket"

    private static func makeWay(at path: String) throws(CommandFailure) {
        guard let found = FileIdentity(at: path) else { return }
        guard FileIdentity.isSocket(at: path) else {
            throw CommandFailure(
                .environment,
                in: path,
                "a file that is no socket is there, and stays",
                hint: "move it away, or \(remedy)"
            )
        }
        let refusal: SystemError?
        do throws(SystemError) {
            _ = try UnixSocket.connect(to: path)
            refusal = nil
        } catch {
            refusal = error
        }
        switch refusal?.code {
        case ECONNREFUSED?, ENOENT?:
            guard !UnixSocket.boundPaths().contains(where: { FileIdentity(at: $0) == found }) else {
                throw CommandFailure(
                    .environment,
                    in: path,
                    "another process has it, and does not listen there yet",
                    hint: "stop it first, or \(remedy)"
                )
            }
            // Nobody has it. Whoever made another meanwhile keeps it.
            if FileIdentity(at: path) == found { unsafe unlink(path) }
        // So many clients wait that no other one may.
        case nil, EAGAIN?:
            throw CommandFailure(
                .environment,
                in: path,
                "another process serves there",
                hint: "stop it first, or \(remedy)"
            )
        default: throw CommandFailure(.environment, refusal?.description ?? path, hint: remedy)
        }
    }
}

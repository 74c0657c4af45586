import CWakeShims
import Glibc

/// A spawn that went wrong: at which stage, and why.
struct SpawnFailure: Error {
    var stage: Int32
    var code: Int32
    var call = ""
}

extension SpawnFailure {
    init(call: String, code: Int32) {
        self.init(stage: Int32(WAKE_STAGE_GROUP.rawValue), code: code, call: call)
    }

    /// Text with a zero byte in it cannot be handed to a program.
    static let malformed = SpawnFailure(stage: -1, code: EINVAL)

    /// The error in the words of the app's program.
    func error(for program: AppProgram) -> ProcessError {
        let reason = unsafe wake_reason(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        switch UInt32(bitPattern: stage) {
        case WAKE_STAGE_EXEC.rawValue:
            let remedy = code == EACCES ? "make it executable" : "build the app, or correct its path"
            return ProcessError(.cannotExecute(code: code), "\(program.path): cannot be executed: \(reason); \(remedy)")
        case WAKE_STAGE_DIRECTORY.rawValue:
            let folder = program.directory ?? ""
            return ProcessError(
                .cannotEnterDirectory(code: code),
                "\(folder): cannot be the working directory: \(reason); make it, or give another"
            )
        default:
            if stage == -1 {
                return ProcessError(.malformed, "\(program.path): an argument or environment entry holds a zero byte")
            }
            let name = call.isEmpty ? self.name : call
            return ProcessError(
                .cannotSpawn(call: name, code: code),
                "\(program.path): cannot be started: \(name): \(reason)"
            )
        }
    }

    private var name: String {
        switch UInt32(bitPattern: stage) {
        case WAKE_STAGE_CLONE.rawValue: "clone"
        case WAKE_STAGE_DEATH_SIGNAL.rawValue: "prctl(PR_SET_PDEATHSIG)"
        case WAKE_STAGE_GROUP.rawValue: "entering its control group"
        case WAKE_STAGE_DESCRIPTORS.rawValue: "placing its descriptors"
        default: "starting its keeper"
        }
    }
}

/// The strings of a spawn as C wants them, freed together.
@safe struct CStrings: ~Copyable {
    private let path: UnsafeMutablePointer<CChar>
    private let directory: UnsafeMutablePointer<CChar>?
    private let arguments: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>
    private let environment: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

    private let processor: AppProcessor?

    init(
        path: String,
        _ arguments: [String],
        _ environment: [String],
        directory: String?,
        processor: AppProcessor?
    ) throws(SpawnFailure) {
        self.processor = processor
        let all = [path] + arguments + environment + [directory ?? ""]
        guard !all.contains(where: { $0.utf8.contains(0) }) else { throw .malformed }
        unsafe self.path = strdup(path)
        unsafe self.directory = directory.map { unsafe strdup($0) }
        unsafe self.arguments = Self.list(arguments)
        unsafe self.environment = Self.list(environment)
    }

    deinit {
        unsafe Glibc.free(path)
        unsafe Glibc.free(directory)
        unsafe Self.release(arguments)
        unsafe Self.release(environment)
    }

    /// Valid while this value lives.
    @unsafe func request(socket: Int32, output: Int32, error: Int32) -> wake_spawn {
        unsafe wake_spawn(
            path: path,
            arguments: UnsafePointer(arguments.baseAddress),
            environment: UnsafePointer(environment.baseAddress),
            directory: directory,
            socket: socket,
            output: output,
            error: error,
            group: -1,
            group_processes: -1,
            limit_processes: -1,
            processor: processor?.number ?? -1,
            first_in_first_out: processor?.isFirstInFirstOut == true ? 1 : 0
        )
    }

    private static func list(_ strings: [String]) -> UnsafeMutableBufferPointer<UnsafePointer<CChar>?> {
        let list = UnsafeMutableBufferPointer<UnsafePointer<CChar>?>.allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            unsafe list.initializeElement(at: index, to: UnsafePointer(strdup(string)))
        }
        unsafe list.initializeElement(at: strings.count, to: nil)
        return unsafe list
    }

    private static func release(_ list: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>) {
        for index in list.indices { unsafe Glibc.free(UnsafeMutablePointer(mutating: list[index])) }
        unsafe list.deallocate()
    }
}

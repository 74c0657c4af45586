import WakeModel
import WakeRouter

/// What a recovery reads from a journal, as if its check sums held.
///
/// The first byte says what follows: 0 for a snapshot; otherwise rows, each with two bytes of its length, the lower first,
/// a byte of time in 100 ms, and an input.
enum Journals {
    /// How many names and apps the journal's run has.
    private static let names: UInt32 = 16
    private static let apps: UInt32 = 4

    static func recover(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        if first == 0 { snapshot(Array(bytes.dropFirst())) } else { rows(bytes.dropFirst()) }
    }

    /// A snapshot that is read is written as the same bytes.
    private static func snapshot(_ bytes: [UInt8]) {
        guard var router = self.router(from: bytes) else { return }
        let written = snapshot(of: &router)
        guard var copy = self.router(from: written) else {
            preconditionFailure("a snapshot that cannot be read again")
        }
        precondition(snapshot(of: &copy) == written, "a snapshot that is read again as another")
    }

    private static func router(from bytes: [UInt8]) -> Router? {
        var router = Router(profile: .ios17)
        var coder = SnapshotCoder(reading: bytes, names: names)
        do throws(EncodingFault) { try coder.code(&router) } catch { return nil }
        return router
    }

    private static func snapshot(of router: inout Router) -> [UInt8] {
        var coder = SnapshotCoder()
        do throws(EncodingFault) { try coder.code(&router) } catch {
            preconditionFailure("a snapshot that is written has no fault: \(error)")
        }
        return coder.bytes
    }

    /// Inputs go through a router as they do when a run goes on: it may refuse what they ask, and decides.
    private static func rows(_ bytes: ArraySlice<UInt8>) {
        var router = Router(profile: .ios17)
        for app in 0..<apps {
            handle(.install(AppID(app), AppManifest(bundle: NameID(1 + app), modes: [])), &router, 0)
        }
        var rest = bytes
        var now: Int64 = 0
        while rest.count > 3 {
            let head = Array(rest.prefix(3))
            let length = min(Int(head[0]) | Int(head[1]) << 8, rest.count - 3)
            now += Int64(head[2]) * 100_000_000
            let row = Array(rest.dropFirst(3).prefix(length))
            rest = rest.dropFirst(3 + length)
            guard let input = try? ByteReader.read(Input.self, from: row, names: names) else { continue }
            if case .install(let app, _) = input, app.number >= apps { continue }
            let again = try? ByteReader.read(Input.self, from: ByteWriter.bytes(of: input), names: names)
            precondition(again == input, "\(input) is read as another")
            handle(input, &router, now)
        }
    }

    private static func handle(_ input: Input, _ router: inout Router, _ now: Int64) {
        var output = RouterOutput()
        router.handle(input, id: .none, at: Instant(nanoseconds: now), into: &output)
    }
}

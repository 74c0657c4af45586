import WakeBench
import WakeJSON

/// The verbs about servers of calls.
extension LiveWorldVerbs {
    static let serverVerbs = [
        LiveVerb.step(
            "voip do",
            "SERVER WHAT VALUE",
            "a call server does something beside its plan: say 'INVITE', or act close, half-close or reset"
        ) {
            [.init("voip", $0.rest[0]), .init($0.rest[1], $0.rest[2])]
        }
    ]
}

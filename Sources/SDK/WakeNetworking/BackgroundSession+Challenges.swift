import Foundation
@_weakLinked import FoundationNetworking
import WakeWire

/// Challenges of servers (XFER-4).
extension BackgroundSession {
    func challenge(
        _ task: any BackgroundTask,
        _ host: String,
        _ realm: String,
        _ scheme: String,
        _ failures: Int,
        _ delegate: (any FoundationNetworking.URLSessionDelegate)?
    ) {
        let url = task.originalRequest?.url
        let space = URLProtectionSpace(
            host: host,
            port: url?.port ?? (url?.scheme == "https" ? 443 : 80),
            protocol: url?.scheme ?? "http",
            realm: realm,
            authenticationMethod: scheme == "digest"
                ? NSURLAuthenticationMethodHTTPDigest : NSURLAuthenticationMethodHTTPBasic
        )
        let number = task.core.number
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space,
            proposedCredential: nil,
            previousFailureCount: failures,
            failureResponse: nil,
            error: nil,
            sender: ChallengeSender(self, number)
        )
        guard let delegate = delegate as? any FoundationNetworking.URLSessionTaskDelegate else {
            return answer(number, .performDefaultHandling, nil)
        }
        delegate.urlSession(self, task: task, didReceive: challenge) { [self] disposition, credential in
            answer(number, disposition, credential)
        }
    }

    func answer(_ number: UInt32, _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        switch disposition {
        case .useCredential:
            guard let user = credential?.user, let password = credential?.password,
                max(user.utf8.count, password.utf8.count) <= WireLimits.headerBytes
            else { return say(.answer(task: number, .defaultHandling, user: "", password: "")) }
            say(.answer(task: number, .credential, user: user, password: password))
        case .performDefaultHandling, .rejectProtectionSpace:
            say(.answer(task: number, .defaultHandling, user: "", password: ""))
        case .cancelAuthenticationChallenge: say(.answer(task: number, .cancel, user: "", password: ""))
        }
    }
}

/// The older way to answer a challenge.
private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    private let session: BackgroundSession
    private let task: UInt32

    init(_ session: BackgroundSession, _ task: UInt32) {
        (self.session, self.task) = (session, task)
        super.init()
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        session.answer(task, .useCredential, credential)
    }
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
        session.answer(task, .performDefaultHandling, nil)
    }
    func cancel(_ challenge: URLAuthenticationChallenge) { session.answer(task, .cancelAuthenticationChallenge, nil) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        session.answer(task, .performDefaultHandling, nil)
    }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        session.answer(task, .rejectProtectionSpace, nil)
    }
}

import Foundation
@_weakLinked import FoundationNetworking

/// A session that may turn out to be of another class than the one that was asked.
public protocol _URLSessionMaking {}

extension URLSession: _URLSessionMaking {}

extension _URLSessionMaking where Self: URLSession {
    fileprivate init(_ session: BackgroundSession) {
        guard let made = session as? Self else {
            preconditionFailure("\(Self.self) cannot be a background session; make it a URLSession")
        }
        self = made
    }
}

extension URLSession {
    /// Makes a background session, or joins the one that the phone has under its identifier (XFER-3).
    ///
    /// What came for the session meanwhile is told to the delegate from now on. There is one session of an identifier in a
    /// process at a time: one that was made before is given back.
    ///
    /// - Parameters:
    ///   - delegate: kept until the session is invalid.
    ///   - queue: where the delegate is told; nil for one of the session's own.
    public convenience init(
        configuration: URLSessionBackgroundConfiguration,
        delegate: (any FoundationNetworking.URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.init(BackgroundSession.make(configuration, delegate, queue))
    }

    /// Makes a background session without a delegate, which nobody hears of.
    public convenience init(configuration: URLSessionBackgroundConfiguration) {
        self.init(BackgroundSession.make(configuration, nil, nil))
    }
}

extension URLSessionTask {
    /// Not before this instant a background session begins the task (XFER-7); nil for at once. To be set before `resume()`.
    ///
    /// It means nothing for the tasks of other sessions.
    public var earliestBeginDate: Date? {
        get { (self as? any BackgroundTask)?.core.facts.withLock { $0.earliestBegin } }
        set { (self as? any BackgroundTask)?.core.facts.withLock { $0.earliestBegin = newValue } }
    }
}

import Foundation

/// Carries out what is asked of the app's calls, on the queue that it was set with.
public protocol CXProviderDelegate: NSObjectProtocol {
    /// The phone has let go of all calls; never on this phone.
    func providerDidReset(_ provider: CXProvider)
    /// Calls can be reported.
    func providerDidBegin(_ provider: CXProvider)
    /// Actions are to be carried out: false to be asked for each of them.
    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool
    /// A call is to be answered; the action is to be fulfilled, or failed.
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
    /// A call is to be ended; the action is to be fulfilled, or failed.
    func provider(_ provider: CXProvider, perform action: CXEndCallAction)
}

/// What a delegate that does not implement a method does.
extension CXProviderDelegate {
    /// Does nothing.
    public func providerDidBegin(_ provider: CXProvider) {}
    /// Leaves it to the actions.
    public func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool { false }
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) {}
}

import AVFAudio
import Foundation

/// Carries out what is asked of the app's calls, on the queue that it was set with.
///
/// Each action is to be fulfilled, or failed, before it is out of time.
public protocol CXProviderDelegate: NSObjectProtocol {
    /// The phone has let go of all calls; never on this phone.
    func providerDidReset(_ provider: CXProvider)
    /// Calls can be reported.
    func providerDidBegin(_ provider: CXProvider)
    /// Actions are to be carried out: false to be asked for each of them.
    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool
    /// A call is to be made.
    func provider(_ provider: CXProvider, perform action: CXStartCallAction)
    /// A call is to be answered.
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
    /// A call is to be ended.
    func provider(_ provider: CXProvider, perform action: CXEndCallAction)
    /// A call is to be held, or to go on.
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction)
    /// The other end of a call is to hear the user no more, or again.
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction)
    /// A call is to be put together with another, or to be by itself again.
    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction)
    /// Tones are to be played in a call.
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction)
    /// An action is out of time: it is complete, and cannot be fulfilled any more.
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction)
    /// The phone has made the audio session active, since a call has sound.
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession)
    /// The phone has made the audio session inactive, since no call has sound any more.
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession)
}

/// What a delegate that does not implement a method does.
extension CXProviderDelegate {
    /// Does nothing.
    public func providerDidBegin(_ provider: CXProvider) {}
    /// Leaves it to the actions.
    public func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool { false }
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXStartCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {}
}

import Foundation

/// Something that is to be done with one call.
open class CXCallAction: CXAction, @unchecked Sendable {
    /// The call.
    public let callUUID: UUID

    /// An action on a call.
    public init(call callUUID: UUID) {
        self.callUUID = callUUID
        super.init()
    }
}

/// A call is to be made.
open class CXStartCallAction: CXCallAction, @unchecked Sendable {
    /// Whom it is to be with.
    open var handle: CXHandle
    /// The name of whom it is to be with among the user's contacts; noted, nothing else.
    open var contactIdentifier: String?
    /// Whether it is to have pictures.
    open var isVideo = false

    /// A call to somebody.
    public init(call callUUID: UUID, handle: CXHandle) {
        self.handle = handle
        super.init(call: callUUID)
    }

    /// It was carried out at another time than now.
    open func fulfill(withDateStarted dateStarted: Date) { fulfill() }

    override func haveDone() { Calls.begin(callUUID) }
    override func haveFailed() { Calls.end(callUUID) }
    override func haveTimedOut() { Calls.askForEnd(of: callUUID) }
}

/// A call is to be answered.
open class CXAnswerCallAction: CXCallAction, @unchecked Sendable {
    /// It was carried out at another time than now.
    open func fulfill(withDateConnected dateConnected: Date) { fulfill() }

    override func haveDone() { Calls.answer(callUUID) }
    override func haveTimedOut() { Calls.askForEnd(of: callUUID) }
}

/// A call is to be ended.
open class CXEndCallAction: CXCallAction, @unchecked Sendable {
    /// It was carried out at another time than now.
    open func fulfill(withDateEnded dateEnded: Date) { fulfill() }

    override func haveDone() { Calls.end(callUUID) }
    override func haveTimedOut() { Calls.end(callUUID) }
}

/// A call is to be held, or to go on.
open class CXSetHeldCallAction: CXCallAction, @unchecked Sendable {
    /// Whether it is to be held.
    open var isOnHold: Bool

    /// A call to be held, or to go on.
    public init(call callUUID: UUID, onHold: Bool) {
        isOnHold = onHold
        super.init(call: callUUID)
    }

    override func haveDone() { Calls.hold(callUUID, isOnHold) }
}

/// The other end of a call is to hear the user no more, or again.
open class CXSetMutedCallAction: CXCallAction, @unchecked Sendable {
    /// Whether the user is not to be heard.
    open var isMuted: Bool

    /// A call to be muted, or not any more.
    public init(call callUUID: UUID, muted: Bool) {
        isMuted = muted
        super.init(call: callUUID)
    }
}

/// A call is to be put together with another, or to be by itself again.
open class CXSetGroupCallAction: CXCallAction, @unchecked Sendable {
    /// The other call; nil to be by itself.
    open var callUUIDToGroupWith: UUID?

    /// A call to be put together with another; nil to be by itself.
    public init(call callUUID: UUID, callUUIDToGroupWith: UUID?) {
        self.callUUIDToGroupWith = callUUIDToGroupWith
        super.init(call: callUUID)
    }

    override func haveDone() { Calls.group(callUUID, with: callUUIDToGroupWith) }
}

/// Tones are to be played in a call; each action waits for the one before.
open class CXPlayDTMFCallAction: CXCallAction, @unchecked Sendable {
    /// Where the tones come from.
    public enum ActionType: Int, Sendable {
        /// The user has tapped a digit.
        case singleTone = 1
        /// They stand behind a comma of a number that was dialed.
        case softPause = 2
        /// They stand behind a semicolon of a number that was dialed.
        case hardPause = 3
    }

    /// The tones.
    open var digits: String
    /// Where they come from.
    open var type: ActionType

    /// Tones to be played in a call.
    public init(call callUUID: UUID, digits: String, type: ActionType) {
        self.digits = digits
        self.type = type
        super.init(call: callUUID)
    }
}

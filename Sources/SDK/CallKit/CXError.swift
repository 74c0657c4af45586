import Foundation
import WakeClient

/// The domain of errors of calls.
public let CXErrorDomain = "com.apple.CallKit.error"
/// The domain of errors of calls that come in.
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"
/// The domain of errors of what an app asks of its calls.
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"
/// The domain of errors of call directory extensions.
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"
/// The domain of errors of VoIP pushes that a notification service extension passes on.
public let CXErrorDomainNotificationServiceExtension = "com.apple.CallKit.error.notificationserviceextension"

/// Why a call that comes in is not shown.
public struct CXErrorCodeIncomingCallError: DomainError {
    /// The reasons.
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = CXErrorCodeIncomingCallError

        /// None of the others.
        case unknown = 0
        /// The app may not; never on this phone.
        case unentitled = 1
        /// There is such a call.
        case callUUIDAlreadyExists = 2
        /// The user does not want to be disturbed; never on this phone.
        case filteredByDoNotDisturb = 3
        /// The user has blocked the caller; never on this phone.
        case filteredByBlockList = 4
        /// The phone is shared with somebody; never on this phone.
        case filteredDuringRestrictedSharingMode = 5
        /// The call is protected; never on this phone.
        case callIsProtected = 6
        /// Those who take part are sensitive; never on this phone.
        case filteredBySensitiveParticipants = 7

        fileprivate var text: String {
            switch self {
            case .unknown: "The call cannot be shown."
            case .unentitled: "The app may not report calls."
            case .callUUIDAlreadyExists: "There is a call with this UUID."
            case .filteredByDoNotDisturb: "The user does not want to be disturbed."
            case .filteredByBlockList: "The user has blocked the caller."
            case .filteredDuringRestrictedSharingMode: "The phone is shared."
            case .callIsProtected: "The call is protected."
            case .filteredBySensitiveParticipants: "Those who take part are sensitive."
            }
        }
    }

    /// The domain of such errors.
    public static var errorDomain: String { CXErrorDomainIncomingCall }
    /// What a number counts as that has no name.
    public static var namelessCode: Code { .unknown }

    /// The number of the reason, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What is wrong, in words.
    public let errorText: String

    /// An error with a number, which need not have a name; without words of its own it has those of the reason.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText.isEmpty ? Code(rawValue: errorCode)?.text ?? "" : errorText
    }

    /// See ``Code/unknown``.
    public static var unknown: Code { .unknown }
    /// See ``Code/unentitled``.
    public static var unentitled: Code { .unentitled }
    /// See ``Code/callUUIDAlreadyExists``.
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    /// See ``Code/filteredByDoNotDisturb``.
    public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
    /// See ``Code/filteredByBlockList``.
    public static var filteredByBlockList: Code { .filteredByBlockList }
    /// See ``Code/filteredDuringRestrictedSharingMode``.
    public static var filteredDuringRestrictedSharingMode: Code { .filteredDuringRestrictedSharingMode }
    /// See ``Code/callIsProtected``.
    public static var callIsProtected: Code { .callIsProtected }
    /// See ``Code/filteredBySensitiveParticipants``.
    public static var filteredBySensitiveParticipants: Code { .filteredBySensitiveParticipants }
}

/// Why something that an app asks of its calls is not done.
public struct CXErrorCodeRequestTransactionError: DomainError {
    /// The reasons.
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = CXErrorCodeRequestTransactionError

        /// None of the others.
        case unknown = 0
        /// The app may not; never on this phone.
        case unentitled = 1
        /// No provider takes the action.
        case unknownCallProvider = 2
        /// There is nothing to do.
        case emptyTransaction = 3
        /// There is no such call.
        case unknownCallUUID = 4
        /// There is such a call.
        case callUUIDAlreadyExists = 5
        /// The call is not in a state for it.
        case invalidAction = 6
        /// There are as many groups of calls as the provider's configuration allows.
        case maximumCallGroupsReached = 7

        fileprivate var text: String {
            switch self {
            case .unknown: "It cannot be done."
            case .unentitled: "The app may not."
            case .unknownCallProvider: "No provider takes the action."
            case .emptyTransaction: "There is nothing to do."
            case .unknownCallUUID: "There is no call with this UUID."
            case .callUUIDAlreadyExists: "There is a call with this UUID."
            case .invalidAction: "The call is not in a state for it."
            case .maximumCallGroupsReached: "There are as many groups of calls as may be."
            }
        }
    }

    /// The domain of such errors.
    public static var errorDomain: String { CXErrorDomainRequestTransaction }
    /// What a number counts as that has no name.
    public static var namelessCode: Code { .unknown }

    /// The number of the reason, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What is wrong, in words.
    public let errorText: String

    /// An error with a number, which need not have a name; without words of its own it has those of the reason.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText.isEmpty ? Code(rawValue: errorCode)?.text ?? "" : errorText
    }

    /// See ``Code/unknown``.
    public static var unknown: Code { .unknown }
    /// See ``Code/unentitled``.
    public static var unentitled: Code { .unentitled }
    /// See ``Code/unknownCallProvider``.
    public static var unknownCallProvider: Code { .unknownCallProvider }
    /// See ``Code/emptyTransaction``.
    public static var emptyTransaction: Code { .emptyTransaction }
    /// See ``Code/unknownCallUUID``.
    public static var unknownCallUUID: Code { .unknownCallUUID }
    /// See ``Code/callUUIDAlreadyExists``.
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    /// See ``Code/invalidAction``.
    public static var invalidAction: Code { .invalidAction }
    /// See ``Code/maximumCallGroupsReached``.
    public static var maximumCallGroupsReached: Code { .maximumCallGroupsReached }
}

/// Why a call directory extension is not loaded.
public struct CXErrorCodeCallDirectoryManagerError: DomainError {
    /// The reasons.
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = CXErrorCodeCallDirectoryManagerError

        /// None of the others.
        case unknown = 0
        /// There is no such extension, as on this phone always.
        case noExtensionFound = 1
        /// It ended before it was loaded; never on this phone.
        case loadingInterrupted = 2
        /// Its entries are not in order; never on this phone.
        case entriesOutOfOrder = 3
        /// An entry is there twice; never on this phone.
        case duplicateEntries = 4
        /// It has too many entries; never on this phone.
        case maximumEntriesExceeded = 5
        /// The user does not let it; never on this phone.
        case extensionDisabled = 6
        /// It is being loaded; never on this phone.
        case currentlyLoading = 7
        /// It takes entries away without having been asked for changes; never on this phone.
        case unexpectedIncrementalRemoval = 8

        fileprivate var text: String {
            switch self {
            case .unknown: "It cannot be done."
            case .noExtensionFound: "There is no such extension."
            case .loadingInterrupted: "The extension ended before it was loaded."
            case .entriesOutOfOrder: "The extension's entries are not in order."
            case .duplicateEntries: "The extension has an entry twice."
            case .maximumEntriesExceeded: "The extension has too many entries."
            case .extensionDisabled: "The user does not let the extension."
            case .currentlyLoading: "The extension is being loaded."
            case .unexpectedIncrementalRemoval: "The extension takes entries away without being asked for changes."
            }
        }
    }

    /// The domain of such errors.
    public static var errorDomain: String { CXErrorDomainCallDirectoryManager }
    /// What a number counts as that has no name.
    public static var namelessCode: Code { .unknown }

    /// The number of the reason, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What is wrong, in words.
    public let errorText: String

    /// An error with a number, which need not have a name; without words of its own it has those of the reason.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText.isEmpty ? Code(rawValue: errorCode)?.text ?? "" : errorText
    }

    /// See ``Code/unknown``.
    public static var unknown: Code { .unknown }
    /// See ``Code/noExtensionFound``.
    public static var noExtensionFound: Code { .noExtensionFound }
    /// See ``Code/loadingInterrupted``.
    public static var loadingInterrupted: Code { .loadingInterrupted }
    /// See ``Code/entriesOutOfOrder``.
    public static var entriesOutOfOrder: Code { .entriesOutOfOrder }
    /// See ``Code/duplicateEntries``.
    public static var duplicateEntries: Code { .duplicateEntries }
    /// See ``Code/maximumEntriesExceeded``.
    public static var maximumEntriesExceeded: Code { .maximumEntriesExceeded }
    /// See ``Code/extensionDisabled``.
    public static var extensionDisabled: Code { .extensionDisabled }
    /// See ``Code/currentlyLoading``.
    public static var currentlyLoading: Code { .currentlyLoading }
    /// See ``Code/unexpectedIncrementalRemoval``.
    public static var unexpectedIncrementalRemoval: Code { .unexpectedIncrementalRemoval }
}

/// Why a VoIP push that a notification service extension passes on is not taken.
public struct CXErrorCodeNotificationServiceExtensionError: DomainError {
    /// The reasons.
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = CXErrorCodeNotificationServiceExtensionError

        /// None of the others.
        case unknown = 0
        /// The process is no notification service extension; never on this phone.
        case invalidClientProcess = 1
        /// The extension may not filter notifications; never on this phone.
        case missingNotificationFilteringEntitlement = 2

        fileprivate var text: String {
            switch self {
            case .unknown: "It cannot be done."
            case .invalidClientProcess: "The process is no notification service extension."
            case .missingNotificationFilteringEntitlement: "The extension may not filter notifications."
            }
        }
    }

    /// The domain of such errors.
    public static var errorDomain: String { CXErrorDomainNotificationServiceExtension }
    /// What a number counts as that has no name.
    public static var namelessCode: Code { .unknown }

    /// The number of the reason, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What is wrong, in words.
    public let errorText: String

    /// An error with a number, which need not have a name; without words of its own it has those of the reason.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText.isEmpty ? Code(rawValue: errorCode)?.text ?? "" : errorText
    }

    /// See ``Code/unknown``.
    public static var unknown: Code { .unknown }
    /// See ``Code/invalidClientProcess``.
    public static var invalidClientProcess: Code { .invalidClientProcess }
    /// See ``Code/missingNotificationFilteringEntitlement``.
    public static var missingNotificationFilteringEntitlement: Code { .missingNotificationFilteringEntitlement }
}

import Foundation

/// The domain of errors of calls.
public let CXErrorDomain = "com.apple.CallKit.error"
/// The domain of errors of calls that come in.
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"
/// The domain of errors of what an app asks of its calls.
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"
/// The domain of errors of call directory extensions.
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"

/// Why a call that comes in is not shown.
public struct CXErrorCodeIncomingCallError: Error, Equatable, Sendable {
    /// The domain of such errors.
    public static let errorDomain = CXErrorDomainIncomingCall

    /// The reasons.
    public enum Code: Int, Sendable {
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
    }

    /// The reason.
    public let code: Code

    /// An error with a reason.
    public init(_ code: Code) {
        self.code = code
    }
}

extension CXErrorCodeIncomingCallError: CustomNSError, LocalizedError {
    /// The number of the reason.
    public var errorCode: Int { code.rawValue }

    /// What is wrong, in words.
    public var errorDescription: String? {
        switch code {
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

/// Why something that an app asks of its calls is not done.
public struct CXErrorCodeRequestTransactionError: Error, Equatable, Sendable {
    /// The domain of such errors.
    public static let errorDomain = CXErrorDomainRequestTransaction

    /// The reasons.
    public enum Code: Int, Sendable {
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
    }

    /// The reason.
    public let code: Code

    /// An error with a reason.
    public init(_ code: Code) {
        self.code = code
    }
}

extension CXErrorCodeRequestTransactionError: CustomNSError, LocalizedError {
    /// The number of the reason.
    public var errorCode: Int { code.rawValue }

    /// What is wrong, in words.
    public var errorDescription: String? {
        switch code {
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

/// Why a call directory extension is not loaded.
public struct CXErrorCodeCallDirectoryManagerError: Error, Equatable, Sendable {
    /// The domain of such errors.
    public static let errorDomain = CXErrorDomainCallDirectoryManager

    /// The reasons.
    public enum Code: Int, Sendable {
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
    }

    /// The reason.
    public let code: Code

    /// An error with a reason.
    public init(_ code: Code) {
        self.code = code
    }
}

extension CXErrorCodeCallDirectoryManagerError: CustomNSError, LocalizedError {
    /// The number of the reason.
    public var errorCode: Int { code.rawValue }

    /// What is wrong, in words.
    public var errorDescription: String? {
        switch code {
        case .unknown: "It cannot be done."
        case .noExtensionFound: "There is no such extension."
        case .loadingInterrupted: "The extension ended before it was loaded."
        case .entriesOutOfOrder: "The extension's entries are not in order."
        case .duplicateEntries: "The extension has an entry twice."
        case .maximumEntriesExceeded: "The extension has too many entries."
        case .extensionDisabled: "The user does not let the extension."
        case .currentlyLoading: "The extension is being loaded."
        case .unexpectedIncrementalRemoval: "The extension takes entries away without having been asked for changes."
        }
    }
}

import Foundation
import WakeClient

/// The domain of errors about notifications.
public let UNErrorDomain = "UNErrorDomain"

/// Why a notification could not be scheduled.
public struct UNError: DomainError {
    /// The reasons.
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = UNError

        /// The user does not want any.
        case notificationsNotAllowed = 1
        /// The trigger names no time that comes.
        case notificationInvalidNoDate = 1_400
        /// There is nothing to show, or more than the phone takes.
        case notificationInvalidNoContent = 1_401
        /// The number on the icon is none.
        case badgeInputInvalid = 1_600

        fileprivate var text: String {
            switch self {
            case .notificationsNotAllowed: "The user does not allow the app to notify."
            case .notificationInvalidNoDate: "The trigger names no time that comes."
            case .notificationInvalidNoContent: "The notification has nothing to show, or more than the phone takes."
            case .badgeInputInvalid: "The number on the icon is negative."
            }
        }
    }

    /// The domain of such errors.
    public static var errorDomain: String { UNErrorDomain }
    /// What a number counts as that has no name.
    public static var namelessCode: Code { .notificationsNotAllowed }

    /// The number of the reason, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What is wrong, in words.
    public let errorText: String

    /// An error with a number, which need not have a name; without words of its own it has those of the reason.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText.isEmpty ? Code(rawValue: errorCode)?.text ?? "" : errorText
    }

    /// See ``Code/notificationsNotAllowed``.
    public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
    /// See ``Code/notificationInvalidNoDate``.
    public static var notificationInvalidNoDate: Code { .notificationInvalidNoDate }
    /// See ``Code/notificationInvalidNoContent``.
    public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }
    /// See ``Code/badgeInputInvalid``.
    public static var badgeInputInvalid: Code { .badgeInputInvalid }
}

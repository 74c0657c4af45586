import Foundation

/// The domain of errors about notifications.
public let UNErrorDomain = "UNErrorDomain"

/// Why a notification could not be scheduled.
public struct UNError: Error, Equatable, Sendable {
    /// The domain of such errors.
    public static let errorDomain = UNErrorDomain

    /// The reasons.
    public enum Code: Int, Sendable {
        /// The user does not want any.
        case notificationsNotAllowed = 1
        /// The trigger names no time that comes.
        case notificationInvalidNoDate = 1_400
        /// There is nothing to show, or more than the phone takes.
        case notificationInvalidNoContent = 1_401
        /// The number on the icon is none.
        case badgeInputInvalid = 1_600
    }

    /// The reason.
    public let code: Code

    /// An error with a reason.
    public init(_ code: Code) {
        self.code = code
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

extension UNError: CustomNSError, LocalizedError {
    /// The number of the reason.
    public var errorCode: Int { code.rawValue }

    /// What is wrong, in words.
    public var errorDescription: String? {
        switch code {
        case .notificationsNotAllowed: "The user does not let the app notify him."
        case .notificationInvalidNoDate: "The trigger names no time that comes."
        case .notificationInvalidNoContent: "The notification has nothing to show, or more than the phone takes."
        case .badgeInputInvalid: "The number on the icon is negative."
        }
    }
}

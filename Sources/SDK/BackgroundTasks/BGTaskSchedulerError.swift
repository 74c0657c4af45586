import Foundation
import WakeClient
import WakeWire

/// The domain of errors of the task scheduler.
public let BGTaskSchedulerErrorDomain = "BGTaskSchedulerErrorDomain"

extension BGTaskScheduler {
    /// The domain of errors of the task scheduler.
    public class var errorDomain: String { BGTaskSchedulerErrorDomain }

    /// Why a request is not pending.
    public struct Error: DomainError {
        /// The codes, with Apple's numbers.
        public enum Code: Int, DomainErrorCode {
            /// The errors that have them.
            public typealias Failure = BGTaskScheduler.Error

            /// Background App Refresh is off, or the phone has no task scheduler (PWR-3).
            case unavailable = 1
            /// As many requests of the kind are pending as may be (BGT-2).
            case tooManyPendingTaskRequests = 2
            /// Info.plist does not list the identifier, or lacks the background mode of the task (BGT-1).
            case notPermitted = 3
        }

        /// The domain of these errors.
        public static var errorDomain: String { BGTaskSchedulerErrorDomain }

        /// The number of the code, also of one that ``Code`` has no name for.
        public let errorCode: Int
        /// What people read; empty for no more than the number.
        public let errorText: String

        /// What a number counts as that has no name.
        public static var namelessCode: Code { .unavailable }

        /// An error with a number, which need not have a name.
        public init(errorCode: Int, errorText: String) {
            self.errorCode = errorCode
            self.errorText = errorText
        }

        /// Background App Refresh is off, or the phone has no task scheduler (PWR-3).
        public static var unavailable: Code { .unavailable }
        /// As many requests of the kind are pending as may be (BGT-2).
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// Info.plist does not list the identifier, or lacks the background mode of the task (BGT-1).
        public static var notPermitted: Code { .notPermitted }
    }
}

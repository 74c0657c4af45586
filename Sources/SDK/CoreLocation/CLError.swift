import Foundation
import WakeClient
import WakeWire

/// The domain of errors of Core Location.
public let kCLErrorDomain = "kCLErrorDomain"
/// The key, in an error's user info, of the region that is monitored in another's place; the emulated phone has none.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"

/// What Core Location could not do.
public struct CLError: DomainError {
    /// The codes, with Apple's numbers.
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = CLError

        /// The position is not known now; it may be later.
        case locationUnknown = 0
        /// The user refused.
        case denied = 1
        /// The network is not there.
        case network = 2
        /// The heading cannot be known.
        case headingFailure = 3
        /// The user refused to have regions monitored.
        case regionMonitoringDenied = 4
        /// A region cannot be monitored.
        case regionMonitoringFailure = 5
        /// A region is not monitored yet.
        case regionMonitoringSetupDelayed = 6
        /// Events of a region come late.
        case regionMonitoringResponseDelayed = 7
        /// Geocoding found nothing.
        case geocodeFoundNoResult = 8
        /// Geocoding found a part.
        case geocodeFoundPartialResult = 9
        /// Geocoding was cancelled.
        case geocodeCanceled = 10
        /// Updates cannot be held back.
        case deferredFailed = 11
        /// There are no updates to hold back.
        case deferredNotUpdatingLocation = 12
        /// Updates are held back only at the best accuracy.
        case deferredAccuracyTooLow = 13
        /// Updates are held back only without a distance filter.
        case deferredDistanceFiltered = 14
        /// The app or the system holds updates back no more.
        case deferredCanceled = 15
        /// Ranging is not possible now.
        case rangingUnavailable = 16
        /// Ranging failed.
        case rangingFailure = 17
        /// The user declined.
        case promptDeclined = 18
        /// Past positions cannot be had.
        case historicalLocationError = 19
    }

    /// The domain of these errors.
    public static var errorDomain: String {
        kCLErrorDomain
    }

    /// The number of the code, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What people read; empty for no more than the number.
    public let errorText: String

    /// What a number counts as that has no name.
    public static var namelessCode: Code {
        .locationUnknown
    }

    /// An error with a number, which need not have a name.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText
    }
}

/// The codes by their names on the error, as in `CLError.denied`.
extension CLError {
    /// The position is not known now; it may be later.
    public static var locationUnknown: Code { .locationUnknown }
    /// The user refused.
    public static var denied: Code { .denied }
    /// The network is not there.
    public static var network: Code { .network }
    /// The heading cannot be known.
    public static var headingFailure: Code { .headingFailure }
    /// The user refused to have regions monitored.
    public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
    /// A region cannot be monitored.
    public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
    /// A region is not monitored yet.
    public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
    /// Events of a region come late.
    public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
    /// Geocoding found nothing.
    public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
    /// Geocoding found a part.
    public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
    /// Geocoding was cancelled.
    public static var geocodeCanceled: Code { .geocodeCanceled }
    /// Updates cannot be held back.
    public static var deferredFailed: Code { .deferredFailed }
    /// There are no updates to hold back.
    public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
    /// Updates are held back only at the best accuracy.
    public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
    /// Updates are held back only without a distance filter.
    public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
    /// The app or the system holds updates back no more.
    public static var deferredCanceled: Code { .deferredCanceled }
    /// Ranging is not possible now.
    public static var rangingUnavailable: Code { .rangingUnavailable }
    /// Ranging failed.
    public static var rangingFailure: Code { .rangingFailure }
    /// The user declined.
    public static var promptDeclined: Code { .promptDeclined }
    /// Past positions cannot be had.
    public static var historicalLocationError: Code { .historicalLocationError }
}

/// The error that an app sees for a failure on the wire.
func appError(_ failure: WireFailure) -> any Error {
    failure.error(orOf: CLError.self)
}

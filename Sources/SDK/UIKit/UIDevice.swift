import Foundation
import WakeClient

/// The emulated phone.
@preconcurrency
@MainActor
open class UIDevice: NSObject {
    /// The phone that the app runs on.
    open class var current: UIDevice {
        device
    }

    private static let device = UIDevice()

    /// The name that its owner gave it.
    open var name: String {
        "Wakebench"
    }

    /// The kind of device.
    open var model: String {
        "iPhone"
    }

    /// The kind of device in the user's language.
    open var localizedModel: String {
        model
    }

    /// The name of the system.
    open var systemName: String {
        "iOS"
    }

    /// The version of the system.
    open var systemVersion: String {
        "17.0"
    }

    /// An identifier for the maker of the app; none here.
    open var identifierForVendor: UUID? {
        nil
    }

    /// Whether apps can run in the background.
    open var isMultitaskingSupported: Bool {
        true
    }

    // MARK: Battery

    /// How the battery stands.
    public enum BatteryState: Int, Sendable {
        /// Not known, or not watched.
        case unknown = 0
        /// Giving power.
        case unplugged = 1
        /// Taking power.
        case charging = 2
        /// Full, and taking power.
        case full = 3
    }

    /// Whether the app watches the battery; the emulated phone has none, which is said once on stderr.
    open var isBatteryMonitoringEnabled = false {
        didSet {
            if isBatteryMonitoringEnabled {
                notDecided(
                    "UIDevice.isBatteryMonitoringEnabled: the phone has no battery, its level is -1, its state unknown"
                )
            }
        }
    }

    /// How full the battery is, from 0 to 1; -1, which stands for not known.
    open var batteryLevel: Float { -1 }

    /// How the battery stands: not known.
    open var batteryState: BatteryState { .unknown }

    /// The battery's level changed; never posted.
    nonisolated public static let batteryLevelDidChangeNotification = Notification.Name(
        "UIDeviceBatteryLevelDidChangeNotification"
    )
    /// The battery's state changed; never posted.
    nonisolated public static let batteryStateDidChangeNotification = Notification.Name(
        "UIDeviceBatteryStateDidChangeNotification"
    )
}

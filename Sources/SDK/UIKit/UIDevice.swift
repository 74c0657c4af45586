import Foundation

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
}

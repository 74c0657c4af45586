import Foundation

/// What Objective-C gives every object by its keys, and code asks of defaults.
extension UserDefaults {
    /// Sets a value, as `set(_:forKey:)` does; nil removes it.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

    /// The value of a key, as `object(forKey:)` has it.
    public func value(forKey key: String) -> Any? { object(forKey: key) }
}

/// The number of an installed app. Numbers are given in order of installation and never reused in a run.
public struct AppID: Hashable, Comparable, Codable, Sendable {
    /// All that there is of it.
    public var number: UInt32

    /// Stands for no app, in records of events that nobody registered for.
    @inlinable
    public static var none: Self { Self(.max) }

    /// Of a number that was given before.
    @inlinable
    public init(_ number: UInt32) { self.number = number }

    /// Orders by number.
    @inlinable
    public static func < (left: AppID, right: AppID) -> Bool { left.number < right.number }
}

/// The number of an accepted event, shown as `e-000398`. 0 stands for no event.
public struct EventID: Hashable, Comparable, Codable, Sendable {
    /// All that there is of it.
    public var number: UInt64

    /// No event.
    @inlinable
    public static var none: Self { Self(0) }

    /// Of a number that was given before.
    @inlinable
    public init(_ number: UInt64) { self.number = number }

    /// Orders by number.
    @inlinable
    public static func < (left: EventID, right: EventID) -> Bool { left.number < right.number }
}

/// The number of a decision, shown as `d-000412`. 0 stands for no decision.
public struct DecisionID: Hashable, Comparable, Codable, Sendable {
    /// All that there is of it.
    public var number: UInt64

    /// No decision.
    @inlinable
    public static var none: Self { Self(0) }

    /// Of a number that was given before.
    @inlinable
    public init(_ number: UInt64) { self.number = number }

    /// Orders by number.
    @inlinable
    public static func < (left: DecisionID, right: DecisionID) -> Bool { left.number < right.number }
}

/// The number of a name that the bench interned: a bundle identifier, a device, a restore identifier, an origin.
///
/// The router compares such numbers and never sees the text. 0 stands for no name.
public struct NameID: Hashable, Comparable, Codable, Sendable {
    /// All that there is of it.
    public var number: UInt32

    /// No name.
    @inlinable
    public static var none: Self { Self(0) }

    /// Of a number that was given before.
    @inlinable
    public init(_ number: UInt32) { self.number = number }

    /// Orders by number.
    @inlinable
    public static func < (left: NameID, right: NameID) -> Bool { left.number < right.number }
}

/// An app's own number for a central or peripheral manager, minted by the SDK, unique in its process.
package typealias ManagerNumber = UInt32

/// A GATT attribute handle: 1 to 65535; 0 stands for none.
package typealias AttributeHandle = UInt16

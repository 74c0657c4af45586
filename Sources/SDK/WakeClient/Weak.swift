/// Lets others reach an object without keeping it; it is used on the object's own queue.
package final class Weak<Object: AnyObject>: @unchecked Sendable {
    /// The object while somebody holds it.
    package private(set) weak var object: Object?

    /// A way to an object.
    package init(_ object: Object) {
        self.object = object
    }
}

import Foundation

/// Runs the app with a delegate named by its class, and does not return.
@MainActor
@discardableResult
public func UIApplicationMain(
    _ argc: Int32,
    _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ principalClassName: String?,
    _ delegateClassName: String?
) -> Int32 {
    let principal = principalClassName.map { classNamed($0) } ?? UIApplication.self
    UIApplication.run(principal: principal, delegate: delegateClassName.map { classNamed($0) })
}

private func classNamed(_ name: String) -> NSObject.Type {
    guard let type = NSClassFromString(name) as? NSObject.Type else {
        fatalError("UIApplicationMain: no class '\(name)' that is a subclass of NSObject")
    }
    return type
}

extension NSObject {
    /// Calls the plain initializer of whatever class it is called on.
    ///
    /// An initializer that delegates dispatches on the class it is given, but Swift lets only `required` ones be called
    /// on a metatype, and NSObject's is not. The static function below is its second name, for that call.
    @_silgen_name("wakebench_make_object")
    convenience init(forBench: Void) {
        self.init()
    }

    @_silgen_name("wakebench_make_object")
    static func makeForBench() -> NSObject
}

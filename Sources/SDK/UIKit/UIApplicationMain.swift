import Foundation
import WakeClient

/// Runs the app with a delegate named by its class, and does not return.
@preconcurrency
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

/// What the main function of a class with `@UIApplicationMain` calls: `UIApplicationMain` as C knows it.
///
/// - Parameters:
///   - principalClassName: An NSString, or null.
///   - delegateClassName: An NSString, or null.
@_cdecl("UIApplicationMain")
@MainActor
public func wakebenchApplicationMain(
    _ argc: Int32,
    _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ principalClassName: UnsafeMutableRawPointer?,
    _ delegateClassName: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe UIApplicationMain(argc, argv, text(principalClassName), text(delegateClassName))
}

private func text(_ string: UnsafeMutableRawPointer?) -> String? {
    unsafe string.map { String(unsafe Unmanaged<NSString>.fromOpaque($0).takeUnretainedValue()) }
}

/// The other function that the main function of a class with `@UIApplicationMain` calls: the name of a class.
///
/// - Returns: An NSString that is never released.
@_cdecl("NSStringFromClass")
public func wakebenchStringFromClass(_ type: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    let named: AnyClass = unsafe unsafeBitCast(type, to: AnyClass.self)
    return unsafe Unmanaged.passRetained(NSString(string: NSStringFromClass(named))).toOpaque()
}

private func classNamed(_ name: String) -> NSObject.Type {
    guard let type = NSClassFromString(name) as? NSObject.Type else {
        fatalError("UIApplicationMain: no class '\(name)' that is a subclass of NSObject")
    }
    return type
}

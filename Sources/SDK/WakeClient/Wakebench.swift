import Foundation

/// What an app can ask the bench that runs it, beyond what iOS offers.
///
/// Code that is to stay the same on a phone does not need it.
public enum Wakebench {
    /// Why this process runs now.
    public struct Wake: Equatable, Sendable {
        /// The source that woke the app, such as `bluetooth`.
        public let cause: String
        /// The id of the event, such as `e-000398`.
        public let event: String?
        /// The id of the decision, such as `d-000412`.
        public let decision: String?
    }

    /// The latest wake: of the launch, or of the event delivered last; nil after a launch by the user.
    public static var currentWake: Wake? {
        BenchClient.shared.currentWake
    }

    /// Says that the work of this wake is done, so that the app may be suspended before its window ends.
    ///
    /// Nothing says it by itself: without it the app keeps its whole window, as on iOS.
    public static func done() {
        BenchClient.shared.send(.done)
    }

    /// Says that the app has drawn with OpenGL ES. In the background the system ends an app for it.
    ///
    /// There is nothing to draw on here: code that draws says so where it would present what it has drawn.
    public static func drew() {
        BenchClient.shared.send(.drew)
    }
}

/// Runs the body; there are no objects to release later on this phone.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
}

/// Seconds since the first instant of 2001, as Core Foundation counts.
public typealias CFAbsoluteTime = Double

/// The present time in seconds since the first instant of 2001.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
    Date().timeIntervalSinceReferenceDate
}

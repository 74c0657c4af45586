import Foundation
@_weakLinked import FoundationNetworking
import Synchronization

/// A configuration of a session whose transfers the phone carries on while the app is suspended or gone (XFER-1).
///
/// It comes from `URLSessionConfiguration.background(withIdentifier:)`. A variable that holds it must not be declared as the
/// plain class: the session is made by what the compiler knows of it.
public final class URLSessionBackgroundConfiguration: URLSessionConfiguration, @unchecked Sendable {
    fileprivate let launches = Mutex(true)

    @available(*, deprecated, message: "The initializer of the class above it is.")
    fileprivate init(_ name: String) {
        super.init()
        identifier = name
    }

    /// Foundation's session copies what it is made with, and could carry nothing on.
    public override func copy(with zone: NSZone? = nil) -> Any {
        preconditionFailure(
            "a background configuration was made a session of as a URLSessionConfiguration; "
                + "declare its variable without that type"
        )
    }
}

/// Keeps the word of an initializer that Foundation calls deprecated to one place.
private protocol MadeByName {
    static func made(_ name: String) -> URLSessionBackgroundConfiguration
}

extension URLSessionBackgroundConfiguration: MadeByName {
    @available(*, deprecated, message: "The initializer that it calls is.")
    fileprivate static func made(_ name: String) -> URLSessionBackgroundConfiguration { .init(name) }
}

extension URLSessionConfiguration {
    /// A configuration of a session that the phone carries on while the app is suspended or gone (XFER-1).
    ///
    /// A session made again with the same identifier, in a later process too, is the one that there is, with its tasks (XFER-3).
    ///
    /// - Parameter identifier: 1 to 255 bytes, unique in the app.
    public static func background(withIdentifier identifier: String) -> URLSessionBackgroundConfiguration {
        make(URLSessionBackgroundConfiguration.self, identifier)
    }

    private static func make<Maker: MadeByName>(
        _ maker: Maker.Type,
        _ name: String
    ) -> URLSessionBackgroundConfiguration { maker.made(name) }

    /// Whether the phone wakes or launches the app for the session (XFER-2); true at first. It means nothing for other sessions.
    public var sessionSendsLaunchEvents: Bool {
        get { (self as? URLSessionBackgroundConfiguration)?.launches.withLock { $0 } ?? false }
        set { (self as? URLSessionBackgroundConfiguration)?.launches.withLock { $0 = newValue } }
    }
}

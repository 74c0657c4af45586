import Foundation
import WakeWire

/// An error of one of the system's domains: a number, which its codes may have a name for, and what people read.
///
/// Frameworks' errors are structs of it, so that `as?` finds them.
public protocol DomainError: CustomNSError, Hashable, Sendable {
    /// The codes that have names.
    associatedtype Code: DomainErrorCode where Code.Failure == Self

    /// What a number counts as that has no name.
    static var namelessCode: Code { get }

    /// What people read; empty for no more than the number.
    var errorText: String { get }

    /// An error with a number, which need not have a name.
    init(errorCode: Int, errorText: String)
}

/// The codes of a domain's errors.
public protocol DomainErrorCode: RawRepresentable, Sendable, Equatable where RawValue == Int {
    /// The errors that have them.
    associatedtype Failure: DomainError where Failure.Code == Self
}

extension DomainErrorCode {
    /// Whether the error is one of the domain with this code.
    public static func ~= (match: Self, error: any Error) -> Bool {
        (error as? Failure)?.code == match
    }
}

extension DomainError {
    /// An error with a code and, in the user info, its description.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.init(errorCode: code.rawValue, errorText: userInfo[NSLocalizedDescriptionKey] as? String ?? "")
    }

    /// The error that an NSError stands for.
    public init(_nsError error: NSError) {
        let text = error.userInfo[NSLocalizedDescriptionKey] as? String
        self.init(errorCode: error.code, errorText: text ?? "")
    }

    /// The code.
    public var code: Code {
        Code(rawValue: errorCode) ?? Self.namelessCode
    }

    /// The description, where there is one.
    public var errorUserInfo: [String: Any] {
        errorText.isEmpty ? [:] : [NSLocalizedDescriptionKey: errorText]
    }

    /// What people read.
    public var localizedDescription: String {
        errorText.isEmpty
            ? "The operation couldn’t be completed. (\(Self.errorDomain) error \(errorCode).)" : errorText
    }
}

extension WireFailure {
    /// The error that an app sees: the struct where it is of that domain, and an NSError where it is of none of these.
    package func error(orOf domains: any DomainError.Type...) -> any Error {
        for domain in domains where domain.errorDomain == self.domain {
            return domain.init(errorCode: code, errorText: message)
        }
        return NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: message])
    }
}

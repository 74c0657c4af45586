import Foundation

/// An Info.plist as it lies in an Xcode project, with what Xcode puts in when it builds the bundle: values for `$(NAME)`, and the keys of
/// an app's program and identifier where the project leaves them to its settings.
struct ProjectPlist {
    private(set) var values: [String: Any]
    /// Whether they are others than those of the file.
    private(set) var isChanged = false
    /// One line for each thing that was assumed, or could not be known.
    private(set) var notes: [String] = []

    /// - Parameters:
    ///   - file: the Info.plist, for the notes.
    ///   - program: the name of the program's file.
    ///   - identifier: the bundle identifier; nil for that of the file.
    init(_ read: [String: Any], of file: String, program: String, identifier: String?) {
        let name = program.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        var settings = BuildSettings(program: program, product: name.isEmpty ? program : name)
        let key = "CFBundleIdentifier"
        let own = read[key] as? String
        let isLeftOpen = own.map(BuildSettings.namesIdentifier) ?? (read[key] == nil)
        let assumed = NewApp.usualIdentifier(BuildSettings.Form.identifier.applied(to: settings.product))
        settings.identifier = identifier ?? (isLeftOpen ? assumed : own.map { settings.filled($0) } ?? assumed)
        values = settings.filled(members: identifier == nil ? read : read.filter { $0.key != key })
        isChanged = settings.hasFilled
        if let identifier {
            values[key] = identifier
            isChanged = isChanged || own != identifier
        } else if isLeftOpen {
            if own == nil { values[key] = assumed }
            isChanged = true
            // It may be a part of what the file says, as in $(PRODUCT_BUNDLE_IDENTIFIER).beta.
            let taken = values[key] as? String ?? assumed
            let told = "the identifier is a setting of a project; \(taken) is taken, --identifier gives another"
            notes.append("\(file): \(told)")
        }
        if values["CFBundleExecutable"] == nil {
            values["CFBundleExecutable"] = program
            isChanged = true
        }
        if let unknown = settings.unknownText { notes.append("\(file): \(unknown)") }
    }

    /// The text of the list, where it is another than that of the file.
    ///
    /// - Throws: when there is a value in it that XML does not have.
    func newText(of plist: String) throws(BundleError) -> Data? {
        guard isChanged else { return nil }
        do { return try data() } catch {
            throw BundleError(
                bundle: plist,
                key: "Info.plist",
                found: "a value that XML does not have",
                expected: "texts, numbers, dates, data, yes or no, arrays and dictionaries"
            )
        }
    }

    /// The text of the list, as XML.
    ///
    /// Foundation that is linked into the program (an optimised build) refuses every list that has an array in it, so that arrays and
    /// dictionaries are put together here, and Foundation writes keys and single values alone.
    ///
    /// - Throws: when there is a value in it that XML does not have.
    private func data() throws -> Data {
        let head = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        return Data((head + (try Self.text(values)) + "</plist>\n").utf8)
    }

    private static func text(_ value: Any) throws -> String {
        switch value {
        case let members as [Any]: return "<array>\n" + (try members.map { try text($0) }.joined()) + "</array>\n"
        case let entries as [String: Any]:
            let ordered = entries.sorted { $0.key < $1.key }
            return "<dict>\n" + (try ordered.map { try pair($0, true).key + text($1) }.joined()) + "</dict>\n"
        default: return try pair("value", value).value
        }
    }

    /// A key, and a value that is no array and no dictionary, as Foundation writes them.
    private static func pair(_ key: String, _ value: Any) throws -> (key: String, value: String) {
        let bytes = try PropertyListSerialization.data(fromPropertyList: [key: value], format: .xml, options: 0)
        let text = String(decoding: bytes, as: UTF8.self)
        guard let open = text.firstRange(of: "<key>"), let close = text.firstRange(of: "</key>"),
            let end = text.ranges(of: "</dict>").last
        else { throw CocoaError(.propertyListWriteInvalid) }
        return (text[open.lowerBound..<close.upperBound] + "\n", text[close.upperBound..<end.lowerBound] + "\n")
    }
}

extension InfoPlist {
    /// Refuses a text in which a setting of a project is left over.
    func refuseSettings(_ key: String, expected: String) throws(BundleError) {
        guard let text = try text(key), text.contains("$(") || text.contains("${") else { return }
        throw BundleError(bundle: bundle, key: key, found: "'\(printable(text))'", expected: expected)
    }
}

/// The settings of an Xcode project that follow from an app's program, or are the same in each new project ("Build settings reference",
/// Xcode Help).
struct BuildSettings {
    /// What a setting's value is turned into, such as by `$(PRODUCT_NAME:rfc1034identifier)`.
    enum Form: String {
        case identifier = "rfc1034identifier"
        case symbol = "c99extidentifier"
        case lower
        case upper

        func applied(to text: String) -> String {
            switch self {
            case .identifier: Self.replacing(text, with: "-") { $0 == "." || $0 == "-" }
            case .symbol:
                (text.unicodeScalars.first.map { ("0"..."9").contains($0) } == true ? "_" : "")
                    + Self.replacing(text, with: "_") { $0 == "_" }
            case .lower: text.lowercased()
            case .upper: text.uppercased()
            }
        }

        /// The text with a sign in place of all but ASCII's letters and digits, and what `keeps` says.
        private static func replacing(
            _ text: String,
            with sign: Character,
            _ keeps: (Unicode.Scalar) -> Bool
        ) -> String {
            String(
                text.unicodeScalars.map { scalar in
                    let isPlain =
                        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                    return isPlain || keeps(scalar) ? Character(scalar) : sign
                }
            )
        }
    }

    let product: String
    /// That of the bundle; nil while it is not known.
    var identifier: String?
    private let program: String
    /// Whether a value was put in.
    private(set) var hasFilled = false
    /// What was named and is not known, each once.
    private(set) var unknown: [String] = []
    /// So many of what is not known are told.
    private static let told = 5

    init(program: String, product: String) {
        self.program = program
        self.product = product
    }

    /// Whether a text has the setting of the identifier in it.
    static func namesIdentifier(_ text: String) -> Bool { text.contains("PRODUCT_BUNDLE_IDENTIFIER") }

    private func value(_ name: Substring) -> String? {
        switch name {
        case "EXECUTABLE_NAME": program
        case "PRODUCT_NAME", "TARGET_NAME": product
        case "PRODUCT_MODULE_NAME": Form.symbol.applied(to: product)
        case "PRODUCT_BUNDLE_IDENTIFIER": identifier
        case "PRODUCT_BUNDLE_PACKAGE_TYPE": "APPL"
        case "DEVELOPMENT_LANGUAGE": "en"
        case "MARKETING_VERSION": "1.0"
        case "CURRENT_PROJECT_VERSION": "1"
        default: nil
        }
    }

    /// A value with the settings put in, in lists and dictionaries too.
    mutating func filled(_ value: Any) -> Any {
        switch value {
        case let text as String: return filled(text)
        case let members as [Any]:
            var filled: [Any] = []
            for member in members { filled.append(self.filled(member)) }
            return filled
        case let entries as [String: Any]: return filled(members: entries)
        default: return value
        }
    }

    /// The values of a dictionary with the settings put in.
    mutating func filled(members: [String: Any]) -> [String: Any] {
        var filled: [String: Any] = [:]
        // In order, so that what is not known is told in the same.
        for (key, value) in members.sorted(by: { $0.key < $1.key }) { filled[key] = self.filled(value) }
        return filled
    }

    /// A text with `$(NAME)`, `${NAME}` and `$(NAME:form)` replaced where the setting is known.
    mutating func filled(_ text: String) -> String {
        var (filled, rest) = ("", text[...])
        while let dollar = rest.firstIndex(of: "$") {
            filled += rest[..<dollar]
            rest = rest[dollar...]
            guard let reference = Self.reference(rest) else {
                filled += "$"
                rest = rest.dropFirst()
                continue
            }
            let written = rest.prefix(reference.count + 3)
            rest = rest[written.endIndex...]
            if let value = formed(reference) {
                filled += value
                hasFilled = true
            } else {
                filled += written
                let name = printable("$(\(reference))")
                if !unknown.contains(name), unknown.count <= Self.told { unknown.append(name) }
            }
        }
        return filled + rest
    }

    /// What stands between the brackets behind a dollar sign; nil without them.
    private static func reference(_ text: Substring) -> Substring? {
        let behind = text.dropFirst()
        guard let open = behind.first, let close = open == "(" ? ")" : open == "{" ? "}" : nil as Character? else {
            return nil
        }
        // To the next sign at most, so that signs without brackets are not searched again and again.
        let name = behind.dropFirst().prefix { $0 != close && $0 != "$" }
        return name.endIndex < text.endIndex && text[name.endIndex] == close ? name : nil
    }

    /// The value of a setting with its forms; nil where one of them is not known.
    private func formed(_ reference: Substring) -> String? {
        let words = reference.split(separator: ":", omittingEmptySubsequences: false)
        var text = value(words[0])
        for word in words.dropFirst() {
            if word.hasPrefix("default=") {
                text = text ?? String(word.dropFirst(8))
            } else {
                guard let form = Form(rawValue: String(word)) else { return nil }
                text = text.map(form.applied)
            }
        }
        return text
    }

    /// What is not known, in words; nil where all is.
    var unknownText: String? {
        guard !unknown.isEmpty else { return nil }
        let names = unknown.prefix(Self.told).joined(separator: ", ") + (unknown.count > Self.told ? " and more" : "")
        return "\(names): settings of the project that are not known here, and stay as they are"
    }
}

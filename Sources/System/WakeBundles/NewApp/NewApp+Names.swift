extension NewApp {
    /// What is wrong with a name, in words that follow it; nil when nothing is.
    package static func fault(inName name: String) -> String? {
        let scalars = name.unicodeScalars
        guard let first = scalars.first, isLetter(first), name.utf8.count <= 50,
            scalars.allSatisfy({ isLetter($0) || ("0"..."9").contains($0) || $0 == "_" })
        else { return "is no module name: expected a letter, then letters, digits and underscores, at most 50" }
        if taken.contains(name.lowercased()) {
            return "is the name of a module, a file or a word of Swift; choose another"
        }
        return nil
    }

    /// What is wrong with a bundle identifier, in words that follow it; nil when nothing is.
    package static func fault(inIdentifier identifier: String) -> String? {
        let plist = InfoPlist(bundle: "", values: ["CFBundleIdentifier": identifier])
        do throws(BundleError) {
            _ = try plist.identifier()
            return nil
        } catch {
            return "is no bundle identifier: expected \(error.expected)"
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    /// Modules that the app's own would hide or that hold the same types, words that name no module, and the Makefile.
    private static let taken = Set(
        """
        appdelegate beltcentral cbuuid corefoundation glibc main makefile package packagedescription testing wakebench xctest \
        any as associatedtype actor async await break case catch class continue default defer deinit do else enum \
        extension fallthrough false fileprivate for func guard if import in init inout internal is let nil operator \
        precedencegroup private protocol public repeat rethrows return self static struct subscript super switch throw \
        throws true try typealias var where while
        """.split(separator: " ").map(String.init)
    ).union(KnownModule.here.map { $0.lowercased() })
}

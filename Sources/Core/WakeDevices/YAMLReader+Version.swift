import CYAML

extension YAMLReader {
    /// The version of the libyaml in use, such as `0.2.5`.
    package static var libraryVersion: String { unsafe String(cString: yaml_get_version_string()) }
}

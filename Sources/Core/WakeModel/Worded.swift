/// A closed list whose members have words, for files, records and the command line.
package protocol Worded: CaseIterable, Equatable {
    /// A member's name, in small letters with hyphens, unless it says otherwise.
    var word: String { get }
}

extension Worded {
    package var word: String { spelled }

    /// A member's name, in small letters with hyphens: made anew each time.
    var spelled: String {
        "\(self)".reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }

    package init?(word: String) {
        guard let member = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = member
    }
}

/// A closed list whose members have words, for files, records and the command line.
package protocol Worded: CaseIterable, Equatable {
    /// A member's name, in small letters with hyphens, unless it says otherwise.
    var word: String { get }
}

extension Worded {
    package var word: String { spelled }

    /// A member's name, in small letters with hyphens: made anew each time.
    package var spelled: String {
        var word: [UInt8] = []
        for letter in "\(self)".utf8 {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
            if isCapital { word.append(UInt8(ascii: "-")) }
            word.append(isCapital ? letter | 0x20 : letter)
        }
        return String(decoding: word, as: UTF8.self)
    }

    package init?(word: String) {
        guard let member = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = member
    }
}

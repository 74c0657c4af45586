import os

@main
enum Forms {
    static func main() {
        let counter = Counter()
        counter.increment()
        precondition(counter.value == 1)
        checkDeclarations()
        mark()
    }
}

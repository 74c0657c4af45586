import os

@main
enum Forms {
    static func main() async {
        let counter = Counter()
        counter.increment()
        precondition(counter.value == 1)
        checkDeclarations()
        mark()
        await checkExecutor()
    }
}

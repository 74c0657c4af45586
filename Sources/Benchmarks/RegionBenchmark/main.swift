import Glibc
import WakeModel
import WakeRouter

// What a fix costs with so many monitored regions: in the router, which decides about every fix and wakes the apps whose
// regions are crossed; in its index of regions alone; and by a look at each region. Exits 1 when the router's crossings
// are not those of the look, or fewer than 10 boundaries are within 1 km of a fix.

let sizes = [100, 10_000, 100_000]
let fixes = CommandLine.arguments.dropFirst().first.flatMap { Int($0) }.map { max(2, $0) } ?? 20_000
let passes = 3

var isRight = true
var routerCosts: [Double] = []
print(
    "regions  boundaries within 1 km  crossings  hash              router     index   jumping  linear scan  (ns a fix)"
)
for size in sizes {
    let country = RegionCountry(regions: size, fixes: fixes)
    var linear = LinearWatch(country.regions)
    let linearCost = cost(country.drive) { linear.move(to: $0, second: $1) }
    var costs = (router: Double.infinity, index: Double.infinity, jumping: Double.infinity)
    var crossings = Crossings()
    for _ in 0..<passes {
        var watch = RouterWatch(country.regions)
        costs.router = min(costs.router, cost(country.drive) { watch.move(to: $0, second: $1) })
        crossings = watch.crossings
        var index = RegionIndex()
        for (number, region) in country.regions.enumerated() {
            index.insert(
                RegionCountry.key(number),
                center: region.center,
                innerChord: region.inwardChord,
                outerChord: region.outwardChord
            )
        }
        costs.index = min(costs.index, cost(country.drive) { position, _ in index.move(to: position) })
        costs.jumping = min(costs.jumping, cost(country.jumps) { position, _ in index.move(to: position) })
    }
    routerCosts.append(costs.router)
    let near = fewestBoundaries(country)
    print(
        "\(padded(size, 7))  \(padded(near, 22))  \(padded(crossings.count, 9))  \(hexadecimal(crossings.hash))"
            + "  \(padded(Int(costs.router), 6))  \(padded(Int(costs.index), 8))  \(padded(Int(costs.jumping), 8))"
            + "  \(padded(Int(linearCost), 11))"
    )
    if crossings != linear.crossings {
        isRight = false
        print("the linear scan found \(linear.crossings.count) crossings, hash \(hexadecimal(linear.crossings.hash))")
    }
    if near < 10 { isRight = false }
}
print("crossings of router and linear scan: \(isRight ? "identical at every size" : "NOT as they must be")")
let ratio = Int(100 * routerCosts[2] / routerCosts[0])
print("a fix among \(sizes[2]) regions costs the router \(ratio) % of one among \(sizes[0])")
exit(isRight ? 0 : 1)

/// Nanoseconds of processor time for each position but the first, which tells of all regions at once.
func cost(_ positions: [Direction], _ move: (Direction, Int) -> Void) -> Double {
    move(positions[0], 0)
    let began = processorTime()
    for second in 1..<positions.count { move(positions[second], second) }
    return Double(processorTime() - began) / Double(positions.count - 1)
}

/// The smallest number of boundaries within 1 km of a fix, of every hundredth fix.
func fewestBoundaries(_ country: RegionCountry) -> Int {
    let kilometre = Sphere.chord(metres: 1_000)
    var fewest = Int.max
    for fix in stride(from: 0, to: country.drive.count, by: 100) {
        let position = country.drive[fix]
        let near = country.regions.count {
            abs(position.chordSquared(to: $0.center).squareRoot() - $0.radiusChord) <= kilometre
        }
        fewest = min(fewest, near)
    }
    return fewest
}

/// The processor time of this process in nanoseconds.
func processorTime() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: " ", count: max(0, width - text.count)) + text
}

func hexadecimal(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
}

import Foundation

extension NSObject {
    /// Calls the plain initializer of whatever class it is called on.
    ///
    /// An initializer that delegates dispatches on the class it is given, but Swift lets only `required` ones be called
    /// on a metatype, and NSObject's is not. The static function below is its second name, for that call.
    @_silgen_name("wakebench_make_object")
    convenience init(forBench: Void) {
        self.init()
    }

    /// An object of the class that it is called on, by the plain initializer.
    @_silgen_name("wakebench_make_object")
    package static func makeForBench() -> NSObject
}

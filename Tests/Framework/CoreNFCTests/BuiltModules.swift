// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The modules that the tests were built with, for tests that run the compiler.
enum BuiltModules {
    private static let products = URL(fileURLWithPath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    private static let folder = products.appendingPathComponent("Modules").path

    /// Whether they are where the package manager puts them.
    static var areThere: Bool { FileManager.default.fileExists(atPath: "\(folder)/CoreNFC.swiftmodule") }

    /// The arguments with which a tool of the compiler finds them: those in Swift, and the maps of those in C.
    static var arguments: [String] {
        let files = try? FileManager.default.contentsOfDirectory(at: products, includingPropertiesForKeys: nil)
        let maps = (files ?? []).filter { $0.pathExtension == "build" }
            .map { $0.appendingPathComponent("module.modulemap").path }
            .filter { FileManager.default.fileExists(atPath: $0) }
        return ["-I", folder] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }
}

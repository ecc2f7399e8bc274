// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NFCLintEngine
import NFCLintRules

/// The settings of a project: `.nfclint.yml`, and the baseline that it names.
struct Choices {
    /// The maximum size of a baseline, in bytes. Real baselines are far smaller.
    static let largestBaseline = 64 << 20

    let isFolder: Bool
    let configuration: LintConfiguration
    private let folder: URL

    /// - Parameters:
    ///   - path: the project's folder, or a single file.
    ///   - named: another configuration file; nil for `.nfclint.yml` in the project's folder or in the current folder.
    init(path: String, named: String?) throws {
        let url = URL(fileURLWithPath: path)
        // Follow a link to find out whether the target is a folder.
        isFolder = (try? url.resolvingSymlinksInPath().resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true
        folder = isFolder ? url : url.deletingLastPathComponent()
        let candidates = [folder.appendingPathComponent(".nfclint.yml"), URL(fileURLWithPath: ".nfclint.yml")]
        let file =
            named.map { URL(fileURLWithPath: $0) }
            ?? candidates.first { FileManager.default.fileExists(atPath: $0.path) }
        guard let file else {
            configuration = LintConfiguration()
            return
        }
        guard let data = try? Data(contentsOf: file), data.count < 1 << 20 else {
            throw Failure("\(file.path) can't be read.")
        }
        configuration = LintConfiguration(Array(data), known: Set(Rules.all.map(\.id)))
        for problem in configuration.problems {
            Console.note("\(file.lastPathComponent): \(problem)")
        }
    }

    /// The path of the baseline that the configuration names.
    var baseline: String? { configuration.baseline.map { folder.appendingPathComponent($0).path } }

    func read(baseline path: String) throws -> Baseline {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)), data.count < Self.largestBaseline else {
            throw Failure("\(path) can't be read.")
        }
        do throws(FormatError) {
            return try Baseline(Array(data))
        } catch {
            throw Failure("\(path), line \(error.position.line): \(error.reason)")
        }
    }
}

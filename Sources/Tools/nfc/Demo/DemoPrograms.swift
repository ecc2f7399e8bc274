// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport

/// The programs of the demonstration: the service, and the sample app with its files.
struct DemoPrograms {
    /// The path of nfcd.
    let service: String
    /// The path of TagReader.
    let app: String
    /// The folder of the files.
    let installation: String

    init() throws(CommandFailure) {
        // A fresh clone has neither. One build makes both.
        let build = "Build what the demonstration needs: swift build"
        do throws(CommandFailure) {
            service = try ServiceInstallation.program()
        } catch {
            throw CommandFailure(.refused, error.name, "There is no nfcd beside nfc or in PATH. \(build)")
        }
        let folders = [Self.folder(service), ProgramPath.ownFolder].compactMap { $0 }
        let files = FileManager.default
        let found = folders.map { "\($0)/TagReader" }.first(where: ProgramPath.isProgram)
        guard let found else {
            throw CommandFailure(
                .refused,
                "no-sample",
                "There is no TagReader beside nfc. \(build)"
            )
        }
        app = found
        // The package manager puts resources beside a program: PACKAGE_TARGET.resources.
        let folder = Self.folder(found)
        let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
        let resources = names.filter { $0.hasSuffix("_TagReader.resources") }.sorted()
        let paths = resources.map { "\(folder)/\($0)/Installation" }
        guard let installation = paths.first(where: files.fileExists(atPath:)) else {
            throw CommandFailure(
                .refused,
                "no-sample",
                "The files of TagReader are not beside it. \(build)"
            )
        }
        self.installation = installation
    }

    private static func folder(_ path: String) -> String { (path as NSString).deletingLastPathComponent }
}

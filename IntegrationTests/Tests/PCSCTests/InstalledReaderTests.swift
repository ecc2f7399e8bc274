// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import Glibc
import Testing
import VirtualTags

@Suite(
    .serialized,
    .enabled(if: Program.areInstalled("pcscd", "opensc-tool", "setpriv"), "A program is not installed.")
)
struct `A reader that root installs in the system's pcscd` {
    /// Whether this user may create a mount namespace and act as another user.
    @Sendable private static func canBeOthers() async throws -> Bool {
        guard geteuid() == 0, let unshare = Program("unshare") else { return false }
        return try await unshare.run(["--mount", "true"]).status == 0
    }

    @Test(.enabled("Only root makes mount namespaces.", canBeOthers), arguments: ["root", "pcscd"])
    func `Installed reader: pcscd shows the user's tag, other users can't reach it, uninstall leaves nothing`(
        daemon: String
    ) async throws {
        let scratch = URL(fileURLWithPath: "/tmp/oci-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let repository = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let driver = scratch.appending(path: "driver.so").path
        let build = try await #require(Program("bash")).run([repository.path + "/dev/build-pcsc-driver", driver])
        try #require(build.status == 0, "\(build.output)")
        let image = scratch.appending(path: "card.json")
        try Data(Samples.image(Samples.type2())).write(to: image)
        let result = try await #require(Program("unshare")).run([
            "--mount", "sh", here.appending(path: "installed_reader.sh").path, EmulatedTag.tool.path, driver,
            image.path, daemon,
        ])
        #expect(result.status == 0, "\(result.output)")
    }
}

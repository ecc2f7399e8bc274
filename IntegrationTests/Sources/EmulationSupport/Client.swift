// SPDX-License-Identifier: Apache-2.0
import Foundation
public import PeerSupport

/// Starts our own programs on the readers of tests.
public enum Client {
    /// Starts `nfc` on a pcscd.
    public static func nfc(_ arguments: [String], on daemon: PCSCDaemon) throws -> TalkingProgram {
        try TalkingProgram(EmulatedTag.tool.path, arguments, environment: daemon.environment)
    }

    /// Starts the sample app.
    public static func tagReader(on daemon: PCSCDaemon) throws -> TalkingProgram {
        let path = EmulatedTag.tool.deletingLastPathComponent().appending(path: "TagReader").path
        // Its messages are saved next to the files of pcscd, not among those of the user who runs the tests.
        let store = ["TAGREADER_STORE": daemon.socketPath + ".messages.json"]
        return try TalkingProgram(path, [], environment: daemon.environment.merging(store) { $1 })
    }

    /// Starts an app with a session.
    ///
    /// - Parameters:
    ///   - kind: `ndef` or `tag`.
    ///   - environment: its environment variables.
    public static func probe(_ kind: String, _ environment: [String: String]) throws -> TalkingProgram {
        try TalkingProgram(path("SessionProbe"), [kind], environment: environment)
    }

    /// Starts a test of a flow with the test kit.
    ///
    /// - Parameters:
    ///   - product: the tag that it needs.
    ///   - environment: its environment variables.
    public static func flow(_ product: String, _ environment: [String: String]) throws -> TalkingProgram {
        try TalkingProgram(path("FlowProbe"), [product], environment: environment)
    }

    /// The path of a probe. It is built next to the test program.
    private static func path(_ probe: String) -> String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: probe)
            .path
    }
}

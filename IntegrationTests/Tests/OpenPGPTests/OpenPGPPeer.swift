// SPDX-License-Identifier: Apache-2.0
import Foundation
import PeerSupport

/// The pcscd of these tests with jcecard's OpenPGP card. The library of pcscd supports one service per process, so all tests
/// share it and run one after the other.
actor OpenPGPPeer {
    /// A part of the reader's name.
    static let readerName = "Virtual PCD of a test"

    /// Why tests are skipped; nil when everything is installed.
    static let whyNot: String? = {
        #if !arch(x86_64)
            return "jcecard needs a library that is built for x86-64 alone."
        #else
            return missing
        #endif
    }()

    private static var missing: String? {
        guard PythonInterpreter.path != nil else { return PythonInterpreter.reason }
        for path in ["/usr/sbin/pcscd", "/usr/lib/pcsc/drivers/serial/libifdvpcd.so"]
        where !FileManager.default.fileExists(atPath: path) {
            return "\(path) is not there; install it with: apt-get install pcscd vsmartcard-vpcd"
        }
        return nil
    }

    static let shared = OpenPGPPeer()

    private var process: LineProcess?

    /// Starts pcscd, unless it runs.
    func begin() async throws {
        _ = try await running()
    }

    /// Sends a command; see the script.
    func ask(_ command: String) async throws -> String {
        try await running().ask(command, within: .seconds(30))
    }

    private func running() async throws -> LineProcess {
        if let process { return process }
        // Short, because a socket's path has at most 108 bytes.
        let folder = FileManager.default.temporaryDirectory.appending(path: "pcsc-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "openpgp_peer.py").path
        guard let python = PythonInterpreter.path else { throw PeerError(PythonInterpreter.reason) }
        let process = try LineProcess(python, [script, folder.path])
        self.process = process
        let path = try await process.ask("start", within: .seconds(30))
        unsafe setenv("PCSCLITE_CSOCK_NAME", path, 1)
        return process
    }
}

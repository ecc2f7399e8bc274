// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkDelivery
import Testing

/// The site of `site.py`, which runs as long as this lives.
final class Site {
    private let process = Process()
    private let input = Pipe()
    private let folder: String
    let port: Int

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-site-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("site.py").path
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script, folder]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while !line.contains(0x0A) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            line += more
        }
        port = try #require(
            Int(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)),
            "The site did not start; it needs python3 and openssl."
        )
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The file with the authority's certificate.
    var authorities: String { folder + "/ca.pem" }

    /// Options that connect to the site for any domain, and trust its authority.
    func options(timeout: Duration = .seconds(20)) -> AssociationFetcher.Options {
        var options = AssociationFetcher.Options()
        options.timeout = timeout
        options.connectTo = "127.0.0.1:\(port)"
        options.authorities = authorities
        return options
    }
}

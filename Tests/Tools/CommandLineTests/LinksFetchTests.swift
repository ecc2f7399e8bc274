// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import NDEF
import PrivateStorage
import TestThreads
import Testing
import UserBus

@Suite(.ownThreads) struct `nfc links fetch` {
    @Test func `Only domains that an installed app lists are fetched`() throws {
        let user = try User()
        let outcome = try user.nfc.run("links", "fetch", "other.example", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "not-listed")
    }

    @Test func `A site that can't be reached is reported, and nothing is lost`() throws {
        let user = try User()
        try user.cache(User.association)
        let fresh = try user.nfc.run("links", "fetch", "--json")
        #expect(fresh.status == 0)
        #expect(try fresh.objects().first?["age_s"] as? Int ?? 100 < 60)
        let forced = try user.nfc.run("links", "fetch", "--force", "--connect-to", "127.0.0.1:1", "--json")
        #expect(forced.status == 1)
        let object = try #require(try forced.objects().first)
        #expect(object["error"] as? String == "no-connection")
        #expect(object["size"] as? Int == User.association.utf8.count)
        #expect(try user.nfc.run("links", "fetch", "--timeout", "0").status == 2)
        // What is fresh is not asked for, however long a site may take.
        try user.cache(User.association)
        for seconds in ["1", "120"] { #expect(try user.nfc.run("links", "fetch", "--timeout", seconds).status == 0) }
    }

    @Test func `A file is fetched from a site and used`() throws {
        let user = try User()
        let site = Process()
        site.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Background/LinkFetchingTests/site.py").path
        try FileManager.default.createDirectory(atPath: user.scratch.path("site"), withIntermediateDirectories: true)
        site.arguments = ["python3", script, user.scratch.path("site")]
        let (input, output) = (Pipe(), Pipe())
        site.standardInput = input
        site.standardOutput = output
        try site.run()
        defer {
            try? input.fileHandleForWriting.close()
            site.waitUntilExit()
        }
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let outcome = try user.nfc.run(
            "links",
            "fetch",
            "--connect-to",
            "127.0.0.1:\(port)",
            "--authorities",
            user.scratch.path("site/ca.pem")
        )
        #expect(outcome.status == 0)
        #expect(outcome.output == "good.site.example  77 bytes, the site answered just now\n")
        let mode = try FileManager.default.attributesOfItem(
            atPath: user.scratch.path("cache/nfc/links/good.site.example.links")
        )[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }
}

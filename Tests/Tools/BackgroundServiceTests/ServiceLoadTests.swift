// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// The service while it has hostile association files to compile and compare.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
struct `The service under load` {
    private static let domains = (0..<20).map { "site\($0).invalid" }

    /// A file near the limit of 128 KB, most of whose rules grow while it is compiled.
    private static let file: String = {
        let values = (0..<2000).map { "\"value\($0)\"" }.joined(separator: ",")
        let rules = Array(repeating: #"{"/":"/$(v)/x","?":{"a":"$(v)"}}"#, count: 3100).joined(separator: ",")
        return
            #"{"applinks":{"substitutionVariables":{"v":[\#(values)]},"details":[{"appIDs":["TEAM.org.example.reader"],"components":[\#(rules)]}]}}"#
    }()

    /// Installs an app of many sites whose files are kept, and of one more.
    private static func install(_ user: User) throws {
        #expect((120_000...131_072).contains(file.utf8.count), "\(file.utf8.count)")
        for domain in domains { try user.cache(file, of: domain) }
        let names = (domains + ["other.invalid"]).map { "\"applinks:\($0)\"" }.joined(separator: ",")
        try user.write(
            "data/nfc/apps/org.example.Reader.json",
            #"{"app_id":"TEAM.org.example.reader","associated_domains":[\#(names)]}"#
        )
    }

    private static func status(_ service: RunningNfcd) throws -> [String: Any] {
        try #require(try service.user.nfc.run("background", "status", "--json").objects().first)
    }

    @Test func `It answers and ends while the files that it begins with are compiled`() throws {
        let service = try RunningNfcd {
            try Self.install($0)
            _ = try $0.add("https://b.example/1")
        }
        #expect(service.prints(#""event":"started""#))
        let status = try Self.status(service)
        #expect(status["reading"] as? Bool == false && status["waiting"] as? Int == 1, "\(status)")
        #expect(service.end() == 0)
        #expect(!service.log.contains(#""event":"reading""#))
    }

    @Test func `It answers and ends while files are compiled that came later, and a tag waits for them`() throws {
        let tags = try ScratchFolder()
        let service = try RunningNfcd(["--json", "--tags", tags.path("")])
        #expect(service.prints(#""event":"reading""#))
        try Self.install(service.user)
        // After the answer of the site that has no file yet all are compiled.
        #expect(service.prints("The links of other.invalid: "))
        let images = try Images()
        try FileManager.default.copyItem(atPath: try images.poster(), toPath: tags.path("poster.nfc"))
        let status = try Self.status(service)
        #expect(status["reading"] as? Bool == true, "\(status)")
        #expect(service.end() == 0)
        #expect(!service.log.contains(#""event":"arrived""#))
    }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import nfc

/// The files that register the service, and what becomes of those that were there before.
@Suite struct `The files of the service` {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private var installation: ServiceInstallation { ServiceInstallation(environment: ["HOME": scratch.path("home")]) }

    private func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func write(_ path: String, _ text: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    // MARK: Words of a command

    @Test func `A word has quotes where it has a character that means something to one of its readers`() {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+,-./:=@_")
        for byte in UInt8(0x20)...0x7F {
            let character = Character(UnicodeScalar(byte))
            let program = "/a\(character)z"
            for file in [ServiceFiles.busFile(program: program), ServiceFiles.desktopEntry(program: program)] {
                #expect(file.contains("\nExec=\(program)\n") == plain.contains(character), "\(character)")
            }
            let isBare = ServiceFiles.unit(program: "/p", arguments: [program]).contains("\nExecStart=/p \(program)\n")
            #expect(isBare == plain.contains(character), "\(character)")
        }
    }

    @Test func `An empty word, and one with a line break, stay one word`() {
        let unit = ServiceFiles.unit(program: "/p", arguments: ["", "a\nb"])
        #expect(unit.contains("\nExecStart=/p \"\" \"a\\nb\"\n"))
        #expect(ServiceFiles.busFile(program: "/a\nb").contains("\nExec='/a\\nb'\n"))
        #expect(ServiceFiles.desktopEntry(program: "/a`b").contains("\nExec=\"/a\\\\`b\"\n"))
    }

    // MARK: Before and after

    @Test func `What was not there before is gone again, with its folders`() throws {
        let earlier = try installation.earlier()
        #expect(!earlier.isEnabled)
        try installation.write(program: "/p", arguments: ["--log-content"])
        let paths = installation.paths
        #expect(paths.count == 4 && paths.filter(has) == paths)
        #expect(try text(paths[0]).contains("\nExecStart=/p --log-content\n"))
        #expect(try text(paths[1]).contains("\nExec=/p\n"))
        #expect(try text(paths[2]).hasPrefix("[Desktop Entry]\n"))
        #expect(try text(paths[3]).hasPrefix("<?xml "))
        // systemctl makes this one.
        let wants = scratch.path("home/.config/systemd/user/default.target.wants")
        try FileManager.default.createDirectory(atPath: wants, withIntermediateDirectories: false)
        installation.restore(earlier)
        #expect(!has(scratch.path("home")))
    }

    @Test func `What was there before is there again, and a folder with other files stays`() throws {
        let paths = installation.paths
        try write(paths[0], "mine")
        try write(scratch.path("home/.local/share/other"), "x")
        let earlier = try installation.earlier()
        #expect(earlier.isEnabled)
        try installation.write(program: "/p", arguments: [])
        #expect(try text(paths[0]) != "mine" && has(paths[3]))
        try write(scratch.path("home/.local/share/icons/other"), "x")
        installation.restore(earlier)
        #expect(try text(paths[0]) == "mine")
        #expect(paths.filter(has) == [paths[0]])
        #expect(has(scratch.path("home/.local/share/other")) && has(scratch.path("home/.local/share/icons/other")))
        #expect(!has(scratch.path("home/.local/share/icons/hicolor")))
        #expect(!has(scratch.path("home/.local/share/applications")))
    }

    @Test func `Files that are removed are named, once`() throws {
        #expect(installation.remove() == [])
        try installation.write(program: "/p", arguments: [])
        try FileManager.default.removeItem(atPath: installation.paths[2])
        let (first, second, last) = (installation.paths[0], installation.paths[1], installation.paths[3])
        #expect(installation.remove() == [first, second, last])
        #expect(installation.remove() == [])
    }

    @Test func `A file that can't be written is a failure that names it`() throws {
        try write(scratch.path("home/.config"), "x")
        do throws(CommandFailure) {
            try installation.write(program: "/p", arguments: [])
            Issue.record("It was written.")
        } catch {
            #expect(error.status == .refused && error.name == "not-written")
            #expect(error.message == "The folder of \(installation.paths[0]) can't be created.")
        }
    }

    @Test func `A file is replaced as long as it could be put back`() throws {
        let path = installation.paths[1]
        try write(path, String(repeating: "x", count: 1 << 20))
        #expect(try installation.earlier().isEnabled)
        try write(path, String(repeating: "x", count: (1 << 20) + 1))
        #expect(#expect(throws: CommandFailure.self) { try installation.earlier() }?.name == "not-written")
    }

    @Test(arguments: [
        ("/srv/a/.build/debug/nfcd", true), ("/tmp/nfcd", true), ("/var/tmp/nfcd", true), ("/usr/bin/nfcd", false),
        ("/srv/a/build/nfcd", false), ("/srv/a/x.build/nfcd", false), ("/opt/tmp/nfcd", false),
        ("/tmpfiles/nfcd", false), ("/var/tmpfiles/nfcd", false), ("/var/nfcd", false),
    ])
    func `A folder that may be cleaned is no place for a service`(path: String, isPassing: Bool) {
        #expect(ServiceInstallation.isPassing(path) == isPassing)
    }

    // MARK: What the service says

    private func status(_ members: String) -> ServiceStatus? {
        ServiceStatus(#"{"reading":true,"locked":false,"waiting":2\#(members)}"#)
    }

    @Test func `A status names who is silent, and an earlier service names nobody`() throws {
        let earlier = try #require(status(#","conditions":[]"#))
        #expect(earlier.reading && !earlier.locked && earlier.waiting == 2)
        #expect(earlier.silent == [] && earlier.inboxProblem == nil)
        // What is not said of the reader is no reason to look for one.
        #expect(earlier.reader?.source == nil && earlier.hasReader)
        let savers = #","silent_savers":["a","b"],"inbox_problem":"It is full.""#
        let silent = try #require(status(#","conditions":[],"silent_login":true"# + savers))
        #expect(silent.silent == ["logind", "a", "b"] && silent.inboxProblem == "It is full.")
        let answering = try #require(status(#","conditions":[],"silent_login":false"# + savers))
        #expect(answering.silent == ["a", "b"])
    }

    @Test(arguments: [true, false]) func `A status has the state of the reader`(isMet: Bool) throws {
        let camera = #"{"condition":"camera","met":\#(!isMet),"source":"C"}"#
        let reader = #"{"condition":"reader","met":\#(isMet),"source":"R"}"#
        let said = try #require(status(#","conditions":[\#(camera),\#(reader),\#(camera)]"#))
        #expect(said.reader?.source == "R" && said.hasReader == isMet)
        #expect(said.conditions.map(\.condition) == ["camera", "reader", "camera"])
    }

    @Test func `A status that is no status, or too long, is not read`() {
        for text in ["", "{}", "[]", #"{"reading":true,"locked":false,"waiting":-1,"conditions":[]}"#] {
            #expect(ServiceStatus(text)?.waiting == nil, "\(text)")
        }
        let text = #"{"reading":true,"locked":false,"waiting":0,"conditions":[]}"#
        let longest = text + String(repeating: " ", count: (1 << 20) - text.utf8.count)
        #expect(ServiceStatus(longest)?.waiting == 0)
        #expect(ServiceStatus(longest + " ")?.waiting == nil)
    }
}

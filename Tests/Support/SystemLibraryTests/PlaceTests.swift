// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import Testing

@Suite struct `Names and programs of the system` {
    @Test func `The names in a folder are sorted, and no more than are wanted`() throws {
        let all = try #require(FolderNames.read("/proc/self"))
        #expect(all == all.sorted() && all.contains("stat") && !all.contains(".") && !all.contains(".."))
        #expect(FolderNames.read("/proc/self") { $0 == "stat" } == ["stat"])
        #expect(FolderNames.read("/proc/self", limit: 2)?.count == 2)
        #expect(FolderNames.read("/proc/self/stat") == nil)
        let descriptor = unsafe open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        for _ in 0..<2 { #expect(FolderNames.read(descriptor)?.contains("stat") == true) }
    }

    @Test func `A program is found in absolute folders, and a folder with its name does not count`() throws {
        #expect(ProgramPath.find("sh", in: "bin:/nowhere:/bin:/usr/bin") == "/bin/sh")
        #expect(ProgramPath.find("sh", in: "bin:") == nil)
        #expect(ProgramPath.find("self", in: "/proc") == nil)
        let own = try #require(ProgramPath.own)
        #expect(ProgramPath.isProgram(own))
        #expect(own.hasPrefix(try #require(ProgramPath.ownFolder) + "/"))
    }
}

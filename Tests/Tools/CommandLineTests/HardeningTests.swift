// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemLibrary
import TestThreads
import Testing

@Suite(.ownThreads) struct `How programs are linked` {
    private static func file(_ path: String) throws -> ELFFile {
        try ELFFile(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    }

    @Test(arguments: ["nfc", "nfcd", "TagReader", "FirstScan"])
    func `A program is position-independent, binds all at its start, and has no table and no stack to write code to`(
        name: String
    ) throws {
        let program = try Self.file(Command(name: name).path)
        #expect(program.isPositionIndependent)
        #expect(program.bindsAtStart)
        #expect(program.hasReadOnlyRelocations)
        #expect(!program.hasExecutableStack)
    }

    @Test func `The driver that pcscd loads is linked so too, and names no folders`() throws {
        let scratch = try ScratchFolder()
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let driver = scratch.path("driver.so")
        let build = try Command(name: "env").run(repository.path + "/dev/build-pcsc-driver", driver)
        try #require(build.status == 0, "\(build.error)")
        let library = try Self.file(driver)
        #expect(library.bindsAtStart && library.hasReadOnlyRelocations && !library.hasExecutableStack)
        #expect(library.runPath == nil)
        #expect(library.neededLibraries == ["libc.so.6"])
        // The driver that is built with the libraries is for pcscd of the same user: it has the folders of Swift.
        let own = Command(name: "nfc").path.replacing(/nfc$/, with: "libOpenCoreNFCReader.so")
        let built = try Self.file(own)
        #expect(built.bindsAtStart && built.hasReadOnlyRelocations && !built.hasExecutableStack)
    }
}

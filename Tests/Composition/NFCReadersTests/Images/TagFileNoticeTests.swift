// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TestThreads
import Testing
import VirtualCards
import VirtualTags

@testable import NFCReaders

/// Checks what a person reads when the image of a virtual tag can't be saved.
@Suite(.timeLimit(.minutes(1))) struct `The notice of an image that is not saved` {
    @Test(.ownThreads) func `names its place on standard error, with its control characters escaped`() async throws {
        let folder = NSTemporaryDirectory() + "notice-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let contents = TagContents.type2(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
        try Data(try TagImage(contents).encoded()).write(to: URL(fileURLWithPath: folder + "/1.json"))
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [folder = folder as String] in
            var entry = try ImageFiles.load(folder + "/1.json")
            entry.path = folder + "/a\u{1B}b/1.json"
            // As if the file had other bytes, so that it has to be written.
            entry.saved = []
            let saver = TagFileSaver([entry])
            saver.save()
            #expect(saver.failure?.code == .unwritable)
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("\(folder)/a\\u{1b}b "), "\(text)")
        #expect(!text.contains("a\u{1B}b"))
    }
}

// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagImages
import TagLink
import TextSafety
import VirtualTags

/// Writes the images of virtual tags back to their files, if `NFC_TAGS_SAVE` is set.
public final class TagFileSaver: Sendable {
    private struct State {
        var entries: [ImageFiles.Entry]
        var failure: TagFileError?
    }

    private let state: Locked<State>

    init(_ entries: [ImageFiles.Entry]) {
        state = Locked(State(entries: entries))
    }

    /// Why an image could not be saved the last time; nil when all were saved.
    public var failure: TagFileError? { state.withLock { $0.failure } }

    /// Writes each image whose tag has changed. Failures are also printed to standard error.
    func save() {
        state.withLock { state in
            state.failure = nil
            for index in state.entries.indices {
                state.entries[index].image.update(from: state.entries[index].tag)
                do throws(TagFileError) {
                    try Self.save(&state.entries[index])
                } catch {
                    OutputDescriptor.standardError.write("\(VisibleText.escaped(error.reason))\n")
                    state.failure = error
                }
            }
        }
    }

    private static func save(_ entry: inout ImageFiles.Entry) throws(TagFileError) {
        let bytes: [UInt8]
        do throws(TagImageError) {
            bytes = try entry.image.encoded()
        } catch {
            throw TagFileError(.image(error.code), "\(entry.path) is not saved. \(error.reason)")
        }
        guard bytes != entry.saved else { return }
        do throws(StorageError) {
            try OutputFile.write(
                bytes,
                to: entry.path,
                readers: entry.image.contents.holdsSecrets ? .ownerAlone : .everyone
            )
        } catch {
            throw TagFileError(.unwritable, error.reason)
        }
        entry.saved = bytes
    }
}

// SPDX-License-Identifier: Apache-2.0
// A program that uses the targets without Foundation and nothing else. A test checks the linked libraries: Foundation must
// not be among them.
import NDEF
import TagLink
import TagProtocols
import VirtualTags

let field = VirtualField()
let message = try NDEFMessage([.uri("https://example.com")]).encoded()
if let link = field.link(for: .nfcA) {
    let targets = try await NFCAActivation(link: link).activateAll()
    print("\(message.count) bytes, \(targets.count) tags")
}

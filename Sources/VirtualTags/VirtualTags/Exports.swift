// SPDX-License-Identifier: Apache-2.0

// The products of virtual tags.
@_exported public import TagProducts

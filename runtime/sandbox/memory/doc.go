// Package memory holds the linear memories of WebAssembly: where one lies, how it grows, and how it is put back to an image
// after it was used. It knows nothing of modules, calls or budgets, and counts nothing: its user says how large a memory may
// become, and never looks at bytes that it has freed.
//
// On Linux an Image lies in a memfd, of which every Region that adopts it maps a private copy. So a region costs what is
// written to it, and Reset copies back the pages that were written and no others: the kernel knows which they are (since
// Linux 6.7 through PAGEMAP_SCAN, fast with a userfaultfd; before through /proc/self/pagemap). Where the kernel does not tell,
// the memory is compared with the image, all of it.
package memory
